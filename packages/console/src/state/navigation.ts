/*
 * Whether the page that is shown is the first since the browser loaded the document. On the first one the browser has put the
 * focus at the top already.
 */
const marker = 'navigated';

export function markNavigated(): void {
  document.documentElement.dataset[marker] = 'true';
}

export function hasNavigated(): boolean {
  return document.documentElement.dataset[marker] !== undefined;
}
