import type { ExtensionPoint, RollOutPlan } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { RadioGroup } from '../../components/radio-group.tsx';
import { draftOfPlan, type PlanDraft, planFaults, planInWords, planOf, suggestedPlan } from './plan-draft.ts';
import { PlanEditor } from './plan-editor.tsx';

/** What a dialog shows and sends besides its own. */
interface PlannedParts {
  /** What is added to the request. */
  readonly plan: object;
  readonly missing: string | undefined;
  /** The fields. */
  readonly children: ComponentChildren;
}

/** Chooses how a version that is approved, released, or restored reaches the guests. */
export function PlannedRelease(props: {
  /** The plan of the extension point. */
  readonly usual: ExtensionPoint['rollOut'];
  /** Whether the version was planned before, and keeps that plan by default. */
  readonly wasPlanned: boolean;
  readonly children: (parts: PlannedParts) => ComponentChildren;
}) {
  const { usual, wasPlanned } = props;
  const [choice, setChoice] = useState<PlanChoice>({
    mode: wasPlanned || usual !== null ? 'default' : 'all',
    draft: usual === null ? suggestedPlan : draftOfPlan(usual),
  });
  const chosen = chosenPlan(choice);
  return (
    <>
      {props.children({
        plan: useLastGood(chosen, {}),
        missing: chosen === 'faulty' ? 'Correct the plan of the roll-out.' : undefined,
        children: <PlanChoiceFields choice={choice} usual={usual} wasPlanned={wasPlanned} onChange={setChoice} />,
      })}
    </>
  );
}

/** How a release reaches the guests: all at once, by the plan of the extension point, or by a plan of its own. */
type PlanMode = 'all' | 'default' | 'own';

/** What a dialog chose. */
interface PlanChoice {
  readonly mode: PlanMode;
  readonly draft: PlanDraft;
}

/** The field `rollOut` of the request, or that the choice is faulty. */
function chosenPlan({ mode, draft }: PlanChoice): { readonly rollOut?: RollOutPlan | null } | 'faulty' {
  if (mode === 'default') return {};
  if (mode === 'all') return { rollOut: null };
  return planFaults(draft) === undefined ? { rollOut: planOf(draft) } : 'faulty';
}

/** Chooses how a version reaches the guests. */
function PlanChoiceFields(props: {
  readonly choice: PlanChoice;
  /** The plan of the extension point. */
  readonly usual: ExtensionPoint['rollOut'];
  /** Whether the version was planned before, and keeps that plan by default. */
  readonly wasPlanned: boolean;
  readonly onChange: (choice: PlanChoice) => void;
}) {
  const { choice, usual, wasPlanned, onChange } = props;
  const byDefault = wasPlanned
    ? { label: 'As it was planned before' }
    : usual === null
      ? undefined
      : { label: 'As the extension point’s rules say', hint: sentence(planInWords(usual)) };
  const options = [
    ...(byDefault === undefined ? [] : [{ value: 'default' as const, ...byDefault }]),
    { value: 'all' as const, label: 'All guests at once' },
    { value: 'own' as const, label: byDefault === undefined ? 'In steps' : 'In other steps' },
  ];
  return (
    <div class="stack">
      <RadioGroup
        legend="Roll-out"
        name="roll-out"
        value={choice.mode}
        options={options}
        onChange={(mode) => onChange({ ...choice, mode })}
      />
      {choice.mode === 'own' ? (
        <PlanEditor
          draft={choice.draft}
          faults={planFaults(choice.draft)}
          onChange={(draft) => onChange({ ...choice, draft })}
        />
      ) : null}
    </div>
  );
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** The last value that is not faulty, so that a dry run doesn't follow each key. */
function useLastGood<T>(value: T | 'faulty', initial: T): T {
  const [good, setGood] = useState<T>(value === 'faulty' ? initial : value);
  if (value !== 'faulty' && JSON.stringify(value) !== JSON.stringify(good)) {
    setGood(value);
    return value;
  }
  return good;
}
