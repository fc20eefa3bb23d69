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

/** Tries a change of an extension point before it is saved. */
export interface Trial {
  /** Returns the plugins that would no longer fit. Changes nothing. */
  readonly attempt: (change: SchemaTrialInput) => Promise<SchemaTrial>;
  /**
   * Tries a change. If plugins that fit now would no longer fit, asks the user to confirm.
   *
   * @throws DOMException `AbortError` if the user does not confirm
   */
  readonly confirm: (change: SchemaTrialInput) => Promise<void>;
  /** The dialog to render. */
  readonly dialog: ComponentChildren;
}

/** @param apiPath the extension point's path in the API */
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
      if (!isWanted) throw new DOMException('The change was not confirmed', 'AbortError');
    },
    dialog: question === undefined ? null : <BreakDialog appId={appId} {...question} />,
  };
}

function BreakDialog({ appId, trial, settle }: Question & { readonly appId: string }) {
  const count = newlyBreaking(trial);
  return (
    <Dialog
      isWide
      title={count === 1 ? '1 active plugin no longer fits' : `${count} active plugins no longer fit`}
      onClose={() => settle(false)}
    >
      <div class="stack">
        <p>
          Hosts keep these versions, because modules are checked only when they are published. Your app may expect
          something that {count === 1 ? 'it does' : 'they do'} not have.
        </p>
        <TrialView appId={appId} trial={trial} />
        <div class="actions actions-end">
          <Button kind="quiet" onClick={() => settle(false)}>
            Keep editing
          </Button>
          <Button kind="danger" onClick={() => settle(true)}>
            Save anyway
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
