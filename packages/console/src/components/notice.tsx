import type { ComponentChildren } from 'preact';

/** A message. Screen readers announce it when it appears, except for `info` and `warning`. */
export function Notice({
  kind = 'info',
  title,
  children,
}: {
  readonly kind?: 'info' | 'done' | 'warning' | 'failed';
  readonly title?: string | undefined;
  readonly children?: ComponentChildren;
}) {
  const role = { info: undefined, done: 'status', warning: undefined, failed: 'alert' } as const;
  return (
    <div class={`notice notice-${kind}`} role={role[kind]}>
      {title === undefined ? null : <p class="notice-title">{title}</p>}
      {children}
    </div>
  );
}
