import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../../components/button.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { Spinner } from '../../../components/spinner.tsx';
import { optionsOf, type Selection } from '../inspect/selection.ts';
import type { LoadedModule } from '../inspect/use-module.ts';
import { ClockNotice } from './clock-notice.tsx';
import { firstPlan, type Plan, type PlanFaults, readPlan } from './plan.ts';
import { PlanFields } from './plan-fields.tsx';
import { RunResultView } from './run-result.tsx';
import { Streams } from './streams.tsx';
import { type Phase, type RunState, useRun } from './use-run.ts';

/** The form for a run, and its result. */
export function RunSection(props: {
  readonly loaded: LoadedModule;
  readonly selection: Selection;
  readonly onSelection: (selection: Selection) => void;
}) {
  const { loaded, selection, onSelection } = props;
  const { bytes, demangler, facts, fileName } = loaded;
  const [plan, setPlan] = useState<Plan>(() => firstPlan(facts));
  const [faults, setFaults] = useState<PlanFaults>(new Map());
  const { state, start, stop } = useRun();
  const isRunning = state.name === 'running';
  const run = (event: Event): void => {
    event.preventDefault();
    if (isRunning) return;
    const options = facts.isInstrumented ? {} : optionsOf(selection);
    const read = readPlan(plan, facts, { bytes, isInstrumented: facts.isInstrumented, options, fileName, demangler });
    setFaults('faults' in read ? read.faults : new Map());
    if ('order' in read) start(read.order);
  };
  if (facts.exports.length === 0) {
    return (
      <Section title="Run">
        <p class="soft">The module exports no function to call.</p>
      </Section>
    );
  }
  return (
    <Section title="Run">
      <ClockNotice />
      <form class="trace-run stack" onSubmit={run} noValidate>
        <PlanFields facts={facts} plan={plan} faults={faults} onPlan={setPlan} />
        <div class="actions">
          <Button type="submit" isBusy={isRunning}>
            Run
          </Button>
          {isRunning ? (
            <>
              <Button kind="danger" onClick={stop}>
                Stop
              </Button>
              <Elapsed phase={state.phase} />
            </>
          ) : null}
        </div>
      </form>
      <After state={state} />
      {state.name === 'done' && state.result !== undefined ? (
        <RunResultView result={state.result} loaded={loaded} selection={selection} onSelection={onSelection} />
      ) : null}
    </Section>
  );
}

const phaseWords: Readonly<Record<Phase, string>> = {
  instrumenting: 'Instrumenting',
  compiling: 'Compiling',
  running: 'Running',
  gathering: 'Reading the trace',
};

function Elapsed({ phase }: { readonly phase: Phase }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const startMs = performance.now();
    const timer = setInterval(() => setSeconds(Math.floor((performance.now() - startMs) / 1000)), 500);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      <Spinner label={`${phaseWords[phase]}…`} />
      {seconds === 0 ? null : <span class="soft">{seconds} s</span>}
    </>
  );
}

/** The output during and after a run, and why there is no result. */
function After({ state }: { readonly state: RunState }) {
  return (
    <>
      {state.name === 'stopped' ? (
        <Notice kind="warning" title="Stopped">
          <p>
            {crossOriginIsolated
              ? 'It never reached a traced function, so it was terminated without a trace.'
              : 'It was terminated without a trace.'}
          </p>
        </Notice>
      ) : null}
      {state.name === 'fault' ? (
        <Notice kind="failed" title="Can’t run the module">
          <p>{state.fault.replace(/\.$/, '')}.</p>
        </Notice>
      ) : null}
      <Streams text={state.text} isCut={state.isCut} />
    </>
  );
}
