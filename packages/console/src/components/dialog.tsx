import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

/** A modal `<dialog>`, which traps and restores the focus and closes on Escape. Render it while it is open. */
export function Dialog({
  title,
  isWide = false,
  isFirm = false,
  children,
  onClose,
}: {
  readonly title: string;
  readonly isWide?: boolean;
  /** Whether only its own buttons close it, not Escape or a close button. */
  readonly isFirm?: boolean;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const close = useRef(onClose);
  close.current = onClose;
  // In the same turn as it is drawn: what is typed right after the key that opened it is meant for it.
  useLayoutEffect(() => {
    const dialog = element.current;
    const opener = document.activeElement;
    dialog?.showModal();
    // A browser may close it without asking, when Escape is pressed again and again.
    const noteClosed = (): void => close.current();
    dialog?.addEventListener('close', noteClosed);
    return () => {
      dialog?.removeEventListener('close', noteClosed);
      dialog?.close();
      // What opened it may be gone with what it was about: then one begins at the page's top.
      const next = opener?.isConnected ? opener : document.querySelector('main h1');
      if (next instanceof HTMLElement) next.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={isWide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault(); // the parent decides
        if (!isFirm) onClose();
      }}
    >
      <header class="dialog-head">
        <h2 id={titleId}>{title}</h2>
        {isFirm ? null : (
          <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
            <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
              <path
                d="M3.5 3.5l9 9m0-9l-9 9"
                fill="none"
                stroke="currentColor"
                stroke-width="1.75"
                stroke-linecap="round"
              />
            </svg>
          </button>
        )}
      </header>
      {children}
    </dialog>
  );
}
