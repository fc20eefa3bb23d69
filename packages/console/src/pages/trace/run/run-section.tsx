import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../../components/button.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { Spinner } from '../../../components/spinner.tsx';
import { type Choice, optionsOf } from '../look/choice.ts';
import type { Subject } from '../look/use-module.ts';
import { ClockNotice } from './clock-notice.tsx';
import { firstPlan, type Plan, type PlanFaults, readPlan } from './plan.ts';
import { PlanFields } from './plan-fields.tsx';
import { RunResultView } from './run-result.tsx';
import { Streams } from './streams.tsx';
import { type Phase, type RunState, useRun } from './use-run.ts';

/** Where an export is run, and what it did is looked at. */
export function RunSection(props: {
  readonly subject: Subject;
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
}) {
  const { subject, choice, onChoice } = props;
  const { bytes, demangler, facts, fileName } = subject;
  const [plan, setPlan] = useState<Plan>(() => firstPlan(facts));
  const [faults, setFaults] = useState<PlanFaults>(new Map());
  const { state, start, stop } = useRun();
  const isRunning = state.name === 'running';
  const run = (event: Event): void => {
    event.preventDefault();
    if (isRunning) return;
    const entry = facts.exports.find(({ name }) => name === plan.exportName);
    const options = facts.isInstrumented ? {} : optionsOf(choice);
    const read = readPlan(plan, entry, { bytes, isInstrumented: facts.isInstrumented, options, fileName, demangler });
    setFaults('faults' in read ? read.faults : new Map());
    if ('order' in read) start(read.order);
  };
  if (facts.exports.length === 0) {
    return (
      <Section title="Run">
        <p class="soft">The module exports no function, so there is nothing to call.</p>
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
        <RunResultView result={state.result} subject={subject} choice={choice} onChoice={onChoice} />
      ) : null}
    </Section>
  );
}

const phaseWords: Readonly<Record<Phase, string>> = {
  instrumenting: 'Instrumenting',
  compiling: 'Compiling',
  running: 'Running',
  gathering: 'Gathering what happened',
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
      <Spinner label={`${phaseWords[phase]} …`} />
      {seconds === 0 ? null : <span class="soft">{seconds} s</span>}
    </>
  );
}

/** What was written, while it runs and after; and what there is to say where no result came. */
function After({ state }: { readonly state: RunState }) {
  return (
    <>
      {state.name === 'stopped' ? (
        <Notice kind="warning" title="Stopped">
          <p>
            {crossOriginIsolated
              ? 'It went on without coming by a traced function, or did not let itself be stopped: so it was ended as it was, and there is no trace.'
              : 'It was ended as it was, so there is no trace.'}
          </p>
        </Notice>
      ) : null}
      {state.name === 'fault' ? (
        <Notice kind="failed" title="It can’t be run">
          <p>{state.fault.replace(/\.$/, '')}.</p>
        </Notice>
      ) : null}
      <Streams text={state.text} isCut={state.isCut} />
    </>
  );
}
