/** A spinner. Screen readers announce only its label. */
export function Spinner({ label }: { readonly label?: string }) {
  if (label === undefined) return <span class="spinner" aria-hidden="true" />;
  return (
    <span class="spinner-line" role="status">
      <span class="spinner" aria-hidden="true" /> {label}
    </span>
  );
}

/** A placeholder for loading text. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div class="skeleton" role="status">
      <span class="visually-hidden">Loading…</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} class="skeleton-line" aria-hidden="true" />
      ))}
    </div>
  );
}
