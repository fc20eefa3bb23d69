/** Something is under way. Says so to screen readers only where a label is given. */
export function Spinner({ label }: { readonly label?: string }) {
  if (label === undefined) return <span class="spinner" aria-hidden="true" />;
  return (
    <span class="spinner-line" role="status">
      <span class="spinner" aria-hidden="true" /> {label}
    </span>
  );
}

/** Stands where text will be. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div class="skeleton" role="status">
      <span class="visually-hidden">Loading …</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} class="skeleton-line" aria-hidden="true" />
      ))}
    </div>
  );
}
