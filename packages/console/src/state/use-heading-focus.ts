import { useCallback, useLayoutEffect, useRef } from 'preact/hooks';

/**
 * For pages where what one does may take away the button that one pressed: then the focus goes to the page's heading, and who
 * uses the keyboard does not begin at the browser's bar.
 *
 * @returns to be called once something was done
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
