import { hasCode } from '../api/api-error.ts';
import { ErrorView } from '../components/error-view.tsx';
import { type Crumb, Page } from '../components/page.tsx';
import { NotFoundPage } from './not-found.tsx';

const crumbs: readonly Crumb[] = [{ label: 'Applications', to: '/' }];

/** Replaces a page whose application, or a part of it, could not be loaded. */
export function AppError(props: {
  readonly error: unknown;
  readonly onRetry: () => void;
  /** What was not found. */
  readonly kind?: string;
}) {
  const { error, onRetry, kind = 'Page' } = props;
  return hasCode(error, 'not_found') ? (
    <NotFoundPage kind={kind} crumbs={crumbs} />
  ) : (
    <Page title="Application" crumbs={crumbs}>
      <ErrorView error={error} onRetry={onRetry} />
    </Page>
  );
}
