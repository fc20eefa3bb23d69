import type { SchemaTrial, SchemaTrialInput } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { useApi } from '../../state/services.ts';
import { newlyBreaking, TrialView } from './trial-view.tsx';

interface Question {
  readonly trial: SchemaTrial;
  readonly settle: (isWanted: boolean) => void;
}

/** Tries a change of an extension point before it is made. */
export interface Trial {
  /** What would break. Changes nothing. */
  readonly attempt: (change: SchemaTrialInput) => Promise<SchemaTrial>;
  /**
   * Tries a change, and asks where plugins that fit now would not any more.
   *
   * @throws DOMException `AbortError` when whoever is asked would rather not
   */
  readonly confirm: (change: SchemaTrialInput) => Promise<void>;
  /** The question, to be drawn. */
  readonly dialog: ComponentChildren;
}

/** @param apiPath where the extension point is in the API */
export function useTrial(appId: string, apiPath: string): Trial {
  const api = useApi();
  const [question, setQuestion] = useState<Question>();
  const attempt: Trial['attempt'] = (change) => api.post<SchemaTrial>(`${apiPath}/schema/trial`, change);
  return {
    attempt,
    async confirm(change) {
      const trial = await attempt(change);
      if (newlyBreaking(trial) === 0) return;
      const isWanted = await new Promise<boolean>((settle) => setQuestion({ trial, settle }));
      setQuestion(undefined);
      if (!isWanted) throw new DOMException('The change is not wanted', 'AbortError');
    },
    dialog: question === undefined ? null : <BreakDialog appId={appId} {...question} />,
  };
}

function BreakDialog({ appId, trial, settle }: Question & { readonly appId: string }) {
  const count = newlyBreaking(trial);
  return (
    <Dialog
      isWide
      title={count === 1 ? '1 bound plugin would break' : `${count} bound plugins would break`}
      onClose={() => settle(false)}
    >
      <div class="stack">
        <p>
          {count === 1 ? 'It fits' : 'They fit'} now and would not any more. What is bound stays bound, since modules
          are checked when they are published; but your program may look for something that{' '}
          {count === 1 ? 'it' : 'they'} do
          {count === 1 ? 'es' : ''} not have.
        </p>
        <TrialView appId={appId} trial={trial} />
        <div class="actions actions-end">
          <Button kind="quiet" onClick={() => settle(false)}>
            Go on editing
          </Button>
          <Button kind="danger" onClick={() => settle(true)}>
            Save all the same
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
