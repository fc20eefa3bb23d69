import { useServices } from '../state/services.ts';
import { useStore } from '../state/store.ts';

/** The toasts. The element always exists, so that screen readers announce additions. */
export function ToastList() {
  const { toasts } = useServices();
  const list = useStore(toasts.list);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {list.map(({ id, text, kind }) => (
        <p key={id} class={`toast toast-${kind}`}>
          {text}
        </p>
      ))}
    </div>
  );
}
