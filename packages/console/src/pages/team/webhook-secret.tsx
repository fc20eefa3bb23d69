import { DocsLink } from '../../components/docs-link.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';

/** Shows the secret of a webhook once. */
export function WebhookSecretDialog(props: {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}) {
  return (
    <SecretDialog {...props} what="the secret" isReadable>
      <p>
        The receiver verifies the signature of each delivery with it. See{' '}
        <DocsLink page="how-to/webhooks">how to use webhooks</DocsLink>.
      </p>
    </SecretDialog>
  );
}
