import type { Assertion, SimulatedCall, SimulationReport } from '@tenon/protocol';
import { visible } from '@tenon/trace/unsafe-characters';
import { Badge } from '../../components/badge.tsx';
import { byteSize } from '../../components/byte-size.ts';
import { count, counted } from '../../components/count.ts';
import { MoreList } from '../../components/more-list.tsx';
import { ExcerptView, hostValueText, visibleLines } from './excerpt.tsx';
import { durationWords, reportFacts, simulationVerdictWords, verdictBadges } from './verdict-words.ts';
import './simulations.css';

const assertionsAtOnce = 20;
const callsAtOnce = 10;
const logLinesAtOnce = 100;

/** A detail that says no more than the heading. */
const onlyCounts = /^\d+ of \d+ assertions? failed$/;

/** The results of simulations: those that did not pass first. */
export function ReportList({ reports }: { readonly reports: readonly SimulationReport[] }) {
  const sorted = reports.toSorted((a, b) => Number(a.verdict === 'passed') - Number(b.verdict === 'passed'));
  return (
    <div>
      {sorted.map((report) => (
        <ReportView key={report.name} report={report} />
      ))}
    </div>
  );
}

/** The result of one simulation. All texts in it come from modules, and are untrusted. */
function ReportView({ report }: { readonly report: SimulationReport }) {
  const { name, verdict, detail, assertions, calls, log, isCut } = report;
  const failed = assertions.filter(({ passed }) => !passed);
  const passed = assertions.filter((assertion) => assertion.passed);
  return (
    <article class="sim-report" aria-label={`Simulation ${visible(name)}`}>
      <div class="sim-head">
        <strong>
          <code>{visible(name)}</code>
        </strong>
        <Badge kind={verdictBadges[verdict]}>{simulationVerdictWords[verdict]}</Badge>
        <span class="soft small">{reportFacts(report)}</span>
      </div>
      {detail === null || onlyCounts.test(detail) ? null : <p class="sim-reason">{visibleLines(detail)}</p>}
      {failed.length === 0 ? null : <Assertions of={failed} />}
      {passed.length === 0 ? null : (
        <details>
          <summary>{counted(passed.length, 'assertion')} passed</summary>
          <Assertions of={passed} />
        </details>
      )}
      {calls.length === 0 ? null : (
        <details>
          <summary>{counted(calls.length, 'call')} of the plugin</summary>
          <MoreList items={calls} step={callsAtOnce} noun="calls">
            {(call) => <CallView call={call} />}
          </MoreList>
        </details>
      )}
      {log.length === 0 ? null : (
        <details>
          <summary>Log: {counted(log.length, 'line')}</summary>
          <MoreList items={log} step={logLinesAtOnce} noun="lines">
            {({ from, level, text }) => (
              <>
                <span class="soft small">
                  {from}, {visible(level)}:
                </span>{' '}
                <code>{visible(text)}</code>
              </>
            )}
          </MoreList>
        </details>
      )}
      {isCut ? <p class="soft small">The report was too large. Parts of it were left out.</p> : null}
    </article>
  );
}

/** Assertions under the names of their groups. */
function Assertions({ of }: { readonly of: readonly Assertion[] }) {
  return (
    <MoreList items={of} step={assertionsAtOnce} noun="assertions">
      {({ group, name, passed, reason }) => (
        <div class={`sim-assertion ${passed ? 'sim-passed' : 'sim-failed'}`}>
          <span class="sim-mark">
            <span aria-hidden="true">{passed ? '✓' : '✗'}</span>
            <span class="visually-hidden">{passed ? 'passed: ' : 'failed: '}</span>
          </span>
          <div>
            {group === null ? null : <span class="soft">{visible(group)} › </span>}
            {visible(name)}
            {reason === null || reason === '' ? null : <p class="sim-reason small">{visibleLines(reason)}</p>}
          </div>
        </div>
      )}
    </MoreList>
  );
}

const pageBytes = 65_536;

function CallView({ call }: { readonly call: SimulatedCall }) {
  const { input, output, error, timeNano, memoryPages, functionCalls, hostCalls } = call;
  const facts = [
    durationWords(timeNano / 1e6),
    ...(memoryPages === null ? [] : [`${byteSize(memoryPages * pageBytes)} of memory`]),
    ...(functionCalls === null ? [] : [counted(functionCalls, 'function call')]),
  ];
  return (
    <div class="sim-call">
      <p>
        <code>{visible(call.export)}</code> <span class="soft small">{facts.join(' · ')}</span>
      </p>
      <dl class="sim-values">
        <dt>Input</dt>
        <dd>
          <ExcerptView value={input} />
        </dd>
        <dt>{output === null ? 'Error' : 'Output'}</dt>
        <dd>
          {output === null ? (
            <span class="sim-reason">{visibleLines(error ?? 'The call failed.')}</span>
          ) : (
            <ExcerptView value={output} />
          )}
        </dd>
      </dl>
      {hostCalls.length === 0 ? null : (
        <details>
          <summary class="small">{count(hostCalls.length)} calls of host functions</summary>
          <MoreList items={hostCalls} step={callsAtOnce} noun="calls">
            {({ name, args, returns }) => (
              <code class="small">
                {visible(name)}({args.map(hostValueText).join(', ')}) → {hostValueText(returns)}
              </code>
            )}
          </MoreList>
        </details>
      )}
    </div>
  );
}
