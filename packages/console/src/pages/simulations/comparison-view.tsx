import type { ComparedCall, SimulatedCall, SimulationComparison } from '@tenon/protocol';
import { visible } from '@tenon/trace/unsafe-characters';
import { Badge } from '../../components/badge.tsx';
import { byteSize } from '../../components/byte-size.ts';
import { count, counted } from '../../components/count.ts';
import { Loaded } from '../../components/loaded.tsx';
import { MoreList } from '../../components/more-list.tsx';
import { useApi } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import { ExcerptView, hostValueText, visibleLines } from './excerpt.tsx';
import { durationWords, simulationVerdictWords, verdictBadges } from './verdict-words.ts';
import './simulations.css';

const callsAtOnce = 10;
const pageBytes = 65_536;

/** How a version behaves beside another one, in the same simulations. */
export function FetchedComparison(props: { readonly versionPath: string; readonly against?: number | undefined }) {
  const { versionPath, against } = props;
  const api = useApi();
  const comparison = useData(
    (signal) => api.get<SimulationComparison>(`${versionPath}/comparison`, { query: { against }, signal }),
    [versionPath, against],
  );
  return (
    <div class="stack" aria-live="polite">
      <Loaded of={comparison}>{(data) => <Comparison comparison={data} />}</Loaded>
    </div>
  );
}

function Comparison({ comparison }: { readonly comparison: SimulationComparison }) {
  const { version, against, simulations } = comparison;
  if (against === null) return <p class="soft">No other version is active, so there is nothing to compare with.</p>;
  if (simulations.length === 0) return <p class="soft">The extension point has no simulations.</p>;
  const differing = simulations.reduce((sum, { calls }) => sum + calls.filter(({ differs }) => differs).length, 0);
  return (
    <>
      <p>
        {differing === 0
          ? `Version ${version} returns the same as version ${against}.`
          : `${counted(differing, 'call')} of version ${version} ${differing === 1 ? 'differs' : 'differ'} from version ${against}.`}
      </p>
      <div>
        {simulations.map(({ name, before, after, calls, isCut }) => (
          <article key={name} class="sim-report" aria-label={`Simulation ${visible(name)}`}>
            <div class="sim-head">
              <strong>
                <code>{visible(name)}</code>
              </strong>
              {before === null || before === after ? null : (
                <>
                  <Badge kind={verdictBadges[before]}>{simulationVerdictWords[before]}</Badge>
                  <span aria-hidden="true">→</span>
                  <span class="visually-hidden">becomes</span>
                </>
              )}
              <Badge kind={verdictBadges[after]}>{simulationVerdictWords[after]}</Badge>
            </div>
            <ComparedCalls calls={calls} version={version} against={against} />
            {isCut ? <p class="soft small">There are more calls, which are not shown.</p> : null}
          </article>
        ))}
      </div>
    </>
  );
}

interface CallsProps {
  readonly calls: readonly ComparedCall[];
  readonly version: number;
  readonly against: number;
}

function ComparedCalls({ calls, ...versions }: CallsProps) {
  const differing = calls.filter(({ differs }) => differs);
  const same = calls.filter(({ differs }) => !differs);
  const show = (call: ComparedCall) => <ComparedCallView call={call} {...versions} />;
  return (
    <>
      {differing.length === 0 ? null : (
        <MoreList items={differing} step={callsAtOnce} noun="calls">
          {show}
        </MoreList>
      )}
      {same.length === 0 ? null : (
        <details>
          <summary>{counted(same.length, 'call')} with the same output</summary>
          <MoreList items={same} step={callsAtOnce} noun="calls">
            {show}
          </MoreList>
        </details>
      )}
    </>
  );
}

function ComparedCallView(props: { readonly call: ComparedCall } & Pick<CallsProps, 'version' | 'against'>) {
  const { before, after, differs } = props.call;
  const either = after ?? before;
  if (either === null) return null;
  return (
    <div class="sim-call">
      <p>
        <code>{visible(either.export)}</code>
      </p>
      <dl class="sim-values">
        <dt>Input</dt>
        <dd>
          <ExcerptView value={either.input} />
        </dd>
      </dl>
      <div class="sim-sides">
        <Side title={`Version ${props.against}, active`} call={before} />
        <Side title={`Version ${props.version}`} call={after} isChanged={differs} other={before} />
      </div>
    </div>
  );
}

function Side(props: {
  readonly title: string;
  readonly call: SimulatedCall | null;
  readonly isChanged?: boolean;
  readonly other?: SimulatedCall | null;
}) {
  const { title, call, isChanged = false, other = null } = props;
  if (call === null) {
    return (
      <div>
        <p class="small">
          <strong>{title}</strong>
        </p>
        <p class="soft">This version does not make the call.</p>
      </div>
    );
  }
  const { output, error, hostCalls } = call;
  return (
    <div class={isChanged ? 'sim-changed' : undefined}>
      <p class="small">
        <strong>{title}</strong>
      </p>
      {output === null ? (
        <p class="sim-reason">{visibleLines(error ?? 'The call failed.')}</p>
      ) : (
        <ExcerptView value={output} />
      )}
      {hostCalls.length === 0 ? null : (
        <MoreList items={hostCalls} step={callsAtOnce} noun="calls of host functions">
          {({ name, args, returns }) => (
            <code class="small">
              {visible(name)}({args.map(hostValueText).join(', ')}) → {hostValueText(returns)}
            </code>
          )}
        </MoreList>
      )}
      <p class="soft small">{costs(call, other)}</p>
    </div>
  );
}

/** What a call took; with another one, also by how much that differs. */
function costs({ timeNano, memoryPages, functionCalls }: SimulatedCall, other: SimulatedCall | null): string {
  const parts = [`${durationWords(timeNano / 1e6)}${change(timeNano, other?.timeNano)}`];
  if (memoryPages !== null) {
    parts.push(`${byteSize(memoryPages * pageBytes)} of memory${change(memoryPages, other?.memoryPages)}`);
  }
  if (functionCalls !== null) {
    parts.push(`${counted(functionCalls, 'function call')}${change(functionCalls, other?.functionCalls)}`);
  }
  return parts.join(' · ');
}

/** A change in percent: " (+12%)". */
function change(now: number, before: number | null | undefined): string {
  if (before === undefined || before === null || before === 0 || now === before) return '';
  const percent = Math.round(((now - before) / before) * 100);
  return percent === 0 ? '' : ` (${percent > 0 ? '+' : '−'}${count(Math.abs(percent))}%)`;
}
