// Before the first paint, so that no page flashes in the other colours.
(() => {
  const kept = localStorage.getItem('plinth-theme');
  const isDark =
    kept === 'dark' || (kept !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
})();
