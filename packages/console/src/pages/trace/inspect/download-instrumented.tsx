import { useState } from 'preact/hooks';
import { saveBlob } from '../../../api/save-blob.ts';
import { Button } from '../../../components/button.tsx';
import { byteSize } from '../../../components/byte-size.ts';
import { CopyButton } from '../../../components/copy-button.tsx';
import { count } from '../../../components/count.ts';
import { Notice } from '../../../components/notice.tsx';
import type { Instrumented } from './messages.ts';
import type { Selection } from './selection.ts';
import { optionsOf } from './selection.ts';
import { useAnswer } from './use-answer.ts';
import type { LoadedModule } from './use-module.ts';

const maxNotes = 20;

/** The number of traced functions, and a download of the instrumented module. */
export function DownloadInstrumented({
  loaded,
  selection,
}: {
  readonly loaded: LoadedModule;
  readonly selection: Selection;
}) {
  const { fileName, facts, inspector } = loaded;
  const [state, setState] = useState<{ isBusy: boolean; done?: Instrumented; fault?: string; of?: Selection }>({
    isBusy: false,
  });
  const traced = useAnswer(() => inspector.ask({ kind: 'count', selection }), [selection], 200);
  const download = async (): Promise<void> => {
    setState({ isBusy: true });
    try {
      const done = await inspector.ask({ kind: 'instrument', selection });
      saveBlob(new Blob([done.bytes], { type: 'application/wasm' }), instrumentedName(fileName));
      setState({ isBusy: false, done, of: selection });
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
            <strong>{count(traced.value.tracedFunctions)}</strong> of {count(facts.functions)} functions traced.
          </>
        )}
        {traced.fault}
      </p>
      <div class="actions">
        <Button kind="quiet" isBusy={state.isBusy} onClick={() => void download()}>
          Download instrumented
        </Button>
        {selection.kind === 'everything' ? null : (
          <CopyButton text={JSON.stringify(optionsOf(selection))} what="the configuration" />
        )}
      </div>
      {fault === undefined ? null : (
        <Notice kind="failed" title="Can’t instrument the module">
          <p>{fault}.</p>
        </Notice>
      )}
      {done === undefined || state.of !== selection ? null : <Done {...done} />}
    </div>
  );
}

function Done({ report }: Instrumented) {
  const { inputBytes, outputBytes, notes } = report;
  return (
    <Notice kind="done">
      <p>
        {byteSize(inputBytes)} instrumented to {byteSize(outputBytes)}.
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
