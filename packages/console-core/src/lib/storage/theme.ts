export type Theme = 'system' | 'light' | 'dark';

const KEY = 'plinth-theme';
const listeners = new Set<() => void>();
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

const keptTheme = (): Theme => {
  const stored = localStorage.getItem(KEY);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
};

export const shownTheme = (): 'light' | 'dark' =>
  document.documentElement.dataset['theme'] === 'dark' ? 'dark' : 'light';

export function setTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  apply();
}

/** Notifies charts, which read the colors of the theme when they draw. */
export function onThemeChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function apply(): void {
  const theme = keptTheme();
  const isDark = theme === 'dark' || (theme === 'system' && prefersDark.matches);
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

prefersDark.addEventListener('change', apply);
