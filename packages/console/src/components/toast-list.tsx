import { useEffect, useRef } from 'preact/hooks';
import { useServices } from '../state/services.ts';
import { useStore } from '../state/store.ts';
import type { Toast } from '../state/toasts.ts';

/**
 * The toasts. The element always exists, so that screen readers announce additions. Ctrl-Z presses the newest Undo, because the
 * button is far from where the keyboard's focus is.
 */
export function ToastList() {
  const { toasts } = useServices();
  const list = useStore(toasts.list);
  const run = ({ id, undo }: Toast): void => {
    toasts.dismiss(id);
    void undo?.();
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isUndo = event.key.toLowerCase() === 'z' && (event.ctrlKey || event.metaKey) && !event.shiftKey;
      const newest = toasts.list.get().findLast(({ undo }) => undo !== undefined);
      if (!isUndo || newest === undefined || isEditing(event.target)) return;
      event.preventDefault();
      run(newest);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {list.map((toast) => (
        <ToastItem key={toast.id} toast={toast} onUndo={() => run(toast)} />
      ))}
    </div>
  );
}

/** A toast, which stays while the pointer or the focus is on it. */
function ToastItem({ toast, onUndo }: { readonly toast: Toast; readonly onUndo: () => void }) {
  const { toasts } = useServices();
  const { id, text, kind, undo } = toast;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    for (const type of ['mouseenter', 'focusin']) element.current?.addEventListener(type, () => toasts.hold(id));
    for (const type of ['mouseleave', 'focusout']) element.current?.addEventListener(type, () => toasts.resume(id));
  }, []);
  return (
    <div ref={element} class={`toast toast-${kind}`}>
      <p>{text}</p>
      {undo === undefined ? null : (
        <button
          type="button"
          class="toast-undo"
          aria-label={`Undo: ${text}`}
          aria-keyshortcuts="Control+Z"
          onClick={() => {
            onUndo();
            document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
          }}
        >
          Undo
        </button>
      )}
    </div>
  );
}

/** Whether Ctrl-Z belongs to a text, or a dialog is open. */
function isEditing(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]') !== null) return true;
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}
