import { LinkButton } from '../components/button.tsx';
import { Page } from '../components/page.tsx';

export function NotFoundPage() {
  return (
    <Page
      title="Page not found"
      intro="The address may be mistyped, or the page was deleted, or you have no access to it."
    >
      <div class="actions">
        <LinkButton to="/">To your applications</LinkButton>
      </div>
    </Page>
  );
}
