import type { ComponentChildren } from 'preact';
import type { Data } from '../state/use-data.ts';
import { ErrorView } from './error-view.tsx';
import { Skeleton } from './spinner.tsx';

/** Renders fetched data, or a placeholder, or the error. */
export function Loaded<T>({
  of,
  lines,
  children,
}: {
  readonly of: Data<T>;
  readonly lines?: number;
  readonly children: (data: T) => ComponentChildren;
}) {
  if (of.status === 'ready') return <>{children(of.data)}</>;
  if (of.status === 'failed') return <ErrorView error={of.error} onRetry={of.reload} />;
  return <Skeleton lines={lines ?? 3} />;
}
