import { flameGraphPage } from '@tenon/trace/flame-graph';
import { formatDuration } from '@tenon/trace/formats';
import { visible } from '@tenon/trace/unsafe-characters';
import { saveBlob } from '../../../api/save-blob.ts';
import { Button } from '../../../components/button.tsx';
import { count, counted } from '../../../components/count.ts';
import { Notice } from '../../../components/notice.tsx';
import type { Choice } from '../look/choice.ts';
import type { Subject } from '../look/use-module.ts';
import { FlameGraph } from './flame-graph.tsx';
import { HotFunctions } from './hot-functions.tsx';
import type { Outcome, RunResult } from './messages.ts';
import { TextOutput } from './streams.tsx';

/** What a run has come to: how it ended, what it put out, and where its time went. */
export function RunResultView(props: {
  readonly result: RunResult;
  readonly subject: Subject;
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
}) {
  const { result, subject } = props;
  const { outcome, durationMs, flame, spans, output } = result;
  const saveGraph = (): void => {
    const name = `${subject.fileName.replace(/\.wasm$/i, '')}.flame-graph.html`;
    saveBlob(new Blob([flameGraphPage(flame)], { type: 'text/html' }), name);
  };
  return (
    <div class="trace-result stack">
      <OutcomeNotice outcome={outcome} duration={formatDuration(durationMs * 1e6)} />
      {output === undefined || output.length === 0 ? null : <TextOutput title="Output" text={textOf(output)} />}
      <Remarks result={result} />
      {spans === 0 ? (
        <p class="soft">Nothing that is traced was called.</p>
      ) : (
        <>
          <div class="section-head">
            <h3>
              Where its time went <span class="soft trace-spans">{counted(spans, 'call')} shown</span>
            </h3>
            <Button kind="quiet" isSmall onClick={saveGraph}>
              Save the flame graph
            </Button>
          </div>
          <FlameGraph data={flame} />
        </>
      )}
      <HotFunctions {...props} />
    </div>
  );
}

function OutcomeNotice({ outcome, duration }: { readonly outcome: Outcome; readonly duration: string }) {
  switch (outcome.kind) {
    case 'returned':
      return (
        <Notice
          kind="done"
          title={outcome.results === '' ? 'It did what it was asked' : `It answered ${outcome.results}`}
        >
          <p>After {duration}, tracing included.</p>
        </Notice>
      );
    case 'exited':
      return (
        <Notice kind={outcome.code === 0 ? 'done' : 'failed'} title={`The program ended with ${outcome.code}`}>
          <p>After {duration}, tracing included.</p>
        </Notice>
      );
    case 'failed':
      return (
        <Notice kind="failed" title="It failed">
          <p>
            {visible(outcome.message)}, after {duration}.
          </p>
        </Notice>
      );
    case 'stopped':
      return (
        <Notice kind="warning" title="Stopped">
          <p>
            {outcome.message} This is what it did until then, {duration}.
          </p>
        </Notice>
      );
  }
}

/** What was not kept, and how far the figures can be believed. */
function Remarks({ result: { dropped, clockStepMicroseconds } }: { readonly result: RunResult }) {
  const lost = [
    dropped.spans === 0 ? '' : `${counted(dropped.spans, 'call')} for which there was no room`,
    dropped.depth === 0 ? '' : `${counted(dropped.depth, 'call')} deeper than is kept`,
    dropped.events === 0 ? '' : counted(dropped.events, 'event'),
    dropped.attributes === 0 ? '' : counted(dropped.attributes, 'attribute'),
    dropped.functions === 0 ? '' : `${counted(dropped.functions, 'call')} of functions that are too many to count`,
  ].filter((words) => words !== '');
  const step = Number.isFinite(clockStepMicroseconds) ? formatDuration(clockStepMicroseconds * 1e3) : 'an unknown step';
  return (
    <p class="soft small">
      The clock goes on by {step}.{lost.length === 0 ? '' : ` Not shown: ${new Intl.ListFormat('en').format(lost)}.`}
      {dropped.unmatched === 0 ? '' : ` ${count(dropped.unmatched)} beginnings and ends of calls did not fit together.`}
    </p>
  );
}

/** As text where it is text, else as bytes. */
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
