/** The colours: those of the system, or one's own choice, which this browser keeps. */
export type Theme = 'system' | 'light' | 'dark';

const key = 'tenon.theme';

/** The choice that this browser keeps. */
export function readTheme(): Theme {
  const value = localStorage.getItem(key);
  return value === 'light' || value === 'dark' ? value : 'system';
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function saveTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(key);
  else localStorage.setItem(key, theme);
  applyTheme(theme);
}
