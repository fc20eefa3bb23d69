import { stackLines } from '@tenon/run-kit';
import { flameGraphPage } from '@tenon/trace/flame-graph';
import { formatDuration } from '@tenon/trace/formats';
import { visible } from '@tenon/trace/unsafe-characters';
import { saveBlob } from '../../../api/save-blob.ts';
import { Button } from '../../../components/button.tsx';
import { count, counted } from '../../../components/count.ts';
import { Notice } from '../../../components/notice.tsx';
import type { Selection } from '../inspect/selection.ts';
import type { LoadedModule } from '../inspect/use-module.ts';
import { FlameGraph } from './flame-graph.tsx';
import { HotFunctions } from './hot-functions.tsx';
import type { RunResult } from './messages.ts';
import { TextOutput } from './streams.tsx';

/** The result of a run: how it ended, its output, and where its time went. */
export function RunResultView(props: {
  readonly result: RunResult;
  readonly loaded: LoadedModule;
  readonly selection: Selection;
  readonly onSelection: (selection: Selection) => void;
}) {
  const { result, loaded } = props;
  const { flame, spans, output } = result;
  const saveGraph = (): void => {
    const name = `${loaded.fileName.replace(/\.wasm$/i, '')}.flame-graph.html`;
    saveBlob(new Blob([flameGraphPage(flame)], { type: 'text/html' }), name);
  };
  return (
    <div class="trace-result stack">
      <EndingNotice result={result} />
      {output === undefined || output.length === 0 ? null : <TextOutput title="Output" text={textOf(output)} />}
      <Remarks result={result} />
      {spans === 0 ? (
        <p class="soft">No traced function was called.</p>
      ) : (
        <>
          <div class="section-head">
            <h3>
              Time by call <span class="soft trace-spans">{counted(spans, 'call')} shown</span>
            </h3>
            <Button kind="quiet" isSmall onClick={saveGraph}>
              Save flame graph
            </Button>
          </div>
          <FlameGraph data={flame} />
        </>
      )}
      <HotFunctions {...props} />
    </div>
  );
}

function EndingNotice({ result: { ending, values, durationMs } }: { readonly result: RunResult }) {
  const time = `${formatDuration(durationMs * 1e6)}, tracing included`;
  switch (ending.kind) {
    case 'returned': {
      const { exitCode } = ending;
      const title = values === '' ? 'Completed' : `Returned ${values}`;
      return (
        <Notice
          kind={(exitCode ?? 0) === 0 ? 'done' : 'failed'}
          title={exitCode ? `Exited with code ${exitCode}` : title}
        >
          <p>After {time}.</p>
        </Notice>
      );
    }
    case 'stopped':
      return (
        <Notice kind="warning" title="Stopped">
          <p>The trace ends at the stop, after {time}.</p>
        </Notice>
      );
    default:
      return (
        <Notice kind="failed" title={ending.kind === 'refused' ? 'Can’t run the module' : 'Failed'}>
          <p>
            {visible(ending.reason)}, after {time}.
          </p>
          {ending.kind === 'failed' && ending.stack !== undefined ? (
            <pre class="trace-stack small">{stackLines(ending.stack).map(visible).join('\n')}</pre>
          ) : null}
        </Notice>
      );
  }
}

/** What the trace lacks, and how precise it is. */
function Remarks({ result: { dropped, clockStepMicroseconds } }: { readonly result: RunResult }) {
  const lost = [
    dropped.spans === 0 ? '' : `${counted(dropped.spans, 'call')} beyond the limit`,
    dropped.depth === 0 ? '' : `${counted(dropped.depth, 'call')} that are too deep`,
    dropped.events === 0 ? '' : counted(dropped.events, 'event'),
    dropped.attributes === 0 ? '' : counted(dropped.attributes, 'attribute'),
    dropped.functions === 0 ? '' : `${counted(dropped.functions, 'call')} of further functions`,
  ].filter((text) => text !== '');
  const step = Number.isFinite(clockStepMicroseconds) ? formatDuration(clockStepMicroseconds * 1e3) : 'unknown';
  return (
    <p class="soft small">
      Timer resolution: {step}.{lost.length === 0 ? '' : ` Not shown: ${new Intl.ListFormat('en').format(lost)}.`}
      {dropped.unmatched === 0 ? '' : ` ${counted(dropped.unmatched, 'call')} without a start or an end.`}
    </p>
  );
}

/** Valid UTF-8 as text, anything else as bytes. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, 262_144), {
      stream: bytes.length > 262_144,
    });
  } catch {
    const start = [...bytes.subarray(0, 512)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    return bytes.length > 512 ? `${start} … (${count(bytes.length)} bytes)` : start;
  }
}
