import { Notice } from './notice.tsx';
import { Page } from './page.tsx';

/** Replaces an operators' page for other users. */
export function OperatorsOnly({ title }: { readonly title: string }) {
  return (
    <Page title={title}>
      <Notice title="Only operators can see this page">
        <p>
          Ask the operator of this server to run <code>tenon admin operator grant</code> with your e-mail address.
        </p>
      </Notice>
    </Page>
  );
}
