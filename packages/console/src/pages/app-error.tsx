import { hasCode } from '../api/api-error.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { ErrorView } from '../components/error-view.tsx';
import { type Crumb, Page } from '../components/page.tsx';
import { useServices } from '../state/services.ts';
import { useSubmit } from '../state/use-submit.ts';
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
      {hasCode(error, 'passkey_required') ? <UsePasskey onDone={onRetry} /> : null}
    </Page>
  );
}

/** Confirms the session with a passkey, which opens the application, or leads to the page that adds one. */
function UsePasskey({ onDone }: { readonly onDone: () => void }) {
  const { session } = useServices();
  const form = useSubmit(async () => {
    await session.confirm();
    onDone();
  });
  return (
    <div class="actions">
      <ErrorView error={form.error} />
      <Button isBusy={form.isBusy} onClick={form.submit}>
        Confirm
      </Button>
      <LinkButton kind="quiet" to="/account">
        Add a passkey
      </LinkButton>
    </div>
  );
}
