import { useEffect, useRef, useState } from 'preact/hooks';
import { checkBuild } from '../state/check-build.ts';
import { useSubmit } from '../state/use-submit.ts';
import { Button } from './button.tsx';
import { Page } from './page.tsx';

/** The retry interval in milliseconds. */
const everyMs = 5_000;

/** Replaces a page whose code could not be fetched. Reloads once the server responds. */
export function LoadFailed() {
  const [isAway, setAway] = useState(false);
  const wasAway = useRef(false);
  const ask = async (): Promise<boolean> => {
    const isBack = (await checkBuild()) !== undefined;
    wasAway.current ||= !isBack;
    setAway(!isBack);
    return isBack;
  };
  const { submit, isBusy } = useSubmit(async () => {
    if (await ask()) location.reload();
  });
  useEffect(() => {
    void ask();
    const timer = setInterval(() => {
      void ask().then((isBack) => {
        // Where the server has answered all the time, something else is wrong, and loading again would go round in circles.
        if (isBack && wasAway.current) location.reload();
      });
    }, everyMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <Page
      title="This page could not be loaded"
      intro="The server may be unavailable for a moment, or you may be offline. Nothing is lost."
    >
      <p role="status">{isAway ? 'The server is not responding. This page loads as soon as it responds.' : ''}</p>
      <div class="actions">
        <Button isBusy={isBusy} onClick={submit}>
          Try again
        </Button>
      </div>
    </Page>
  );
}
