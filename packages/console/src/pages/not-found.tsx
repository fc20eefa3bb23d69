import { LinkButton } from '../components/button.tsx';
import { Page } from '../components/page.tsx';

export function NotFoundPage() {
  return (
    <Page title="Nothing is here" intro="The address may be mistyped, or what was here is gone or not yours to see.">
      <div class="actions">
        <LinkButton to="/">To your applications</LinkButton>
      </div>
    </Page>
  );
}
