import { useState } from 'preact/hooks';
import { saveBlob } from '../../../api/save-blob.ts';
import { Button } from '../../../components/button.tsx';
import { byteSize } from '../../../components/byte-size.ts';
import { CopyButton } from '../../../components/copy-button.tsx';
import { count } from '../../../components/count.ts';
import { Notice } from '../../../components/notice.tsx';
import type { Choice } from './choice.ts';
import { optionsOf } from './choice.ts';
import type { Instrumented } from './messages.ts';
import { useAnswer } from './use-answer.ts';
import type { Subject } from './use-module.ts';

/** So many notes on a module are shown. */
const maxNotes = 20;

/** How much a choice comes to, and the module that it makes, to be saved. */
export function DownloadInstrumented({ subject, choice }: { readonly subject: Subject; readonly choice: Choice }) {
  const { fileName, facts, looker } = subject;
  const [state, setState] = useState<{ isBusy: boolean; done?: Instrumented; fault?: string; of?: Choice }>({
    isBusy: false,
  });
  const traced = useAnswer(() => looker.ask({ kind: 'count', choice }), [choice], 200);
  const download = async (): Promise<void> => {
    setState({ isBusy: true });
    try {
      const done = await looker.ask({ kind: 'instrument', choice });
      saveBlob(new Blob([done.bytes], { type: 'application/wasm' }), instrumentedName(fileName));
      setState({ isBusy: false, done, of: choice });
    } catch (error) {
      setState({ isBusy: false, fault: error instanceof Error ? error.message : String(error) });
    }
  };
  const { done, fault } = state;
  return (
    <div class="trace-download stack">
      <p role="status">
        {traced.value === undefined ? null : (
          <>
            <strong>{count(traced.value.tracedFunctions)}</strong> of {count(facts.functions)} functions are traced.
          </>
        )}
        {traced.fault}
      </p>
      <div class="actions">
        <Button kind="quiet" isBusy={state.isBusy} onClick={() => void download()}>
          Download instrumented
        </Button>
        {choice.kind === 'everything' ? null : (
          <CopyButton text={JSON.stringify(optionsOf(choice))} what="the configuration" />
        )}
      </div>
      {fault === undefined ? null : (
        <Notice kind="failed" title="It can’t be instrumented">
          <p>{fault}.</p>
        </Notice>
      )}
      {done === undefined || state.of !== choice ? null : <Done {...done} />}
    </div>
  );
}

function Done({ report }: Instrumented) {
  const { inputBytes, outputBytes, notes } = report;
  return (
    <Notice kind="done">
      <p>
        {byteSize(inputBytes)} became {byteSize(outputBytes)}.
      </p>
      {notes.length === 0 ? null : (
        <ul>
          {notes.slice(0, maxNotes).map(({ message }) => (
            <li key={message}>{message}</li>
          ))}
          {notes.length > maxNotes ? <li>And {count(notes.length - maxNotes)} more.</li> : null}
        </ul>
      )}
    </Notice>
  );
}

function instrumentedName(fileName: string): string {
  return `${fileName.replace(/\.wasm$/i, '')}.instrumented.wasm`;
}
