// Light or dark theme: the system's until the button is pressed.
const theme = {
  button: document.getElementById('theme'),
  asked: window.matchMedia('(prefers-color-scheme: dark)'),
  chosen: null,
  show() {
    const dark = this.chosen === null ? this.asked.matches : this.chosen;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    this.button.setAttribute('aria-pressed', String(dark));
    this.button.textContent = dark ? 'Light' : 'Dark';
    this.button.setAttribute('aria-label', dark ? 'Use light colours' : 'Use dark colours');
  },
};
theme.button.addEventListener('click', () => {
  theme.chosen = document.documentElement.dataset.theme !== 'dark';
  theme.show();
});
theme.asked.addEventListener('change', () => theme.show());
theme.show();
