"""An HDF5 file whose values can only be read with a filter library, which a test provides."""

import base64
import zlib

# An HDF5 file with two samples behind the unregistered filter 32123; zlib, base 85.
FILTERED = zlib.decompress(base64.b85decode(
    'c-rgqaB<`1lHy_j0S*oZ76t(ZWbhvf4)CM$Ve$!3nh{EOK<O1sFmXn(oCH){5NbZUx{x4OSCH!eXaHu90SkoYU>F4>'
    '5qP*d27u@YC?A$ePcWgXE6C5xD=9{#M-K|^Wn^H7n8gU=Yd~lwhycubTr@K<<%3iTD#$ZHlCT1UI0u7xJyf0*n4&@Q'
    'OiYYm1G#}d12Gt(_Ep!y(mf;xF*7k&up+DgVX(16(3}C%7OljV&A<>qlXwXB^LGK|Xjnc}U>;4I<N#24$B3o86Cj{('
    '13xMsJ-xAv2JI*q1*2dTjDk@x3P!;&0}b{-!U2eYxWNGc4qrxF'))
