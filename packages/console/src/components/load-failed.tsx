import { Button } from './button.tsx';
import { Page } from './page.tsx';

/** Stands for a page whose code could not be fetched. */
export function LoadFailed() {
  return (
    <Page
      title="This page could not be loaded"
      intro="The server may be away for a moment, or you may not be connected. Nothing is lost."
    >
      <div class="actions">
        <Button onClick={() => location.reload()}>Try again</Button>
      </div>
    </Page>
  );
}
