import { useCallback, useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Moves the focus to the page's heading when an action removes the focused button, so that the next Tab doesn't
 * start over at the browser's toolbar.
 *
 * @returns a function to call after the action
 */
export function useHeadingFocus(): () => void {
  const isDone = useRef(false);
  useLayoutEffect(() => {
    if (!isDone.current || document.activeElement !== document.body) return;
    isDone.current = false;
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  });
  return useCallback(() => {
    isDone.current = true;
  }, []);
}
