import type { ComponentChildren } from 'preact';

/** Explains an empty page and offers the next step. */
export function EmptyState({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly action?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <svg class="empty-mark" viewBox="0 0 64 40" width="64" height="40" aria-hidden="true">
        <path class="empty-rail" d="M3 9h24v6h11v10H27v6H3z" />
        <path class="empty-post" d="M34 4h27v32H34V27h12V13H34z" />
      </svg>
      <h2>{title}</h2>
      {children}
      {action === undefined ? null : <div class="actions actions-centre">{action}</div>}
    </div>
  );
}
