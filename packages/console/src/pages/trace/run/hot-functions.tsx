import { formatDuration, formatPages } from '@tenon/trace/formats';
import { visible } from '@tenon/trace/unsafe-characters';
import { Button } from '../../../components/button.tsx';
import { count } from '../../../components/count.ts';
import { DataTable } from '../../../components/data-table.tsx';
import { useToast } from '../../../state/services.ts';
import { type Choice, withNames } from '../look/choice.ts';
import type { Subject } from '../look/use-module.ts';
import type { FunctionRow, RunResult } from './messages.ts';

/** So many are left out at a press: tracing costs most where the most calls are. */
const mostCalled = 10;

/** What the calls of each function came to, those too that were too short to be shown. */
export function HotFunctions(props: {
  readonly result: RunResult;
  readonly subject: Subject;
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
}) {
  const { result, subject, choice, onChoice } = props;
  const { functions, moreFunctions } = result;
  const toast = useToast();
  if (functions.length === 0) return null;
  const leaveOut = (): void => {
    const names = functions
      .filter(({ rawName }) => !/^func\[\d+\]$/.test(rawName)) // made for a function that has no name to choose it by
      .toSorted((a, b) => b.calls - a.calls)
      .slice(0, mostCalled)
      .map(({ rawName }) => rawName);
    onChoice(
      choice.kind === 'allowed'
        ? withNames(choice, names, false)
        : withNames({ kind: 'banned', names: choice.kind === 'banned' ? choice.names : new Set() }, names, true),
    );
    toast(names.length === 0 ? 'None of them has a name to choose it by.' : 'The next run leaves them out.');
  };
  return (
    <>
      <div class="section-head">
        <h3>Functions that were called</h3>
        {subject.facts.isInstrumented ? null : (
          <Button kind="quiet" isSmall onClick={leaveOut}>
            Leave out the ten called most
          </Button>
        )}
      </div>
      <DataTable<FunctionRow>
        caption="Functions that were called"
        searchHint="Function"
        keptAs="trace functions"
        rows={functions}
        rowKey={({ name, rawName }) => `${name}\n${rawName}`}
        searchText={({ name, rawName }) => `${name}\n${rawName}`}
        columns={[
          { header: 'Function', cell: ({ name }) => <code>{shortened(name)}</code> },
          { header: 'Itself', cell: ({ self }) => <Duration of={self} /> },
          { header: 'With what it called', cell: ({ total }) => <Duration of={total} /> },
          {
            header: 'Calls',
            cell: ({ calls, failures }) =>
              failures === 0 ? count(calls) : `${count(calls)}, ${count(failures)} failed`,
          },
          { header: 'Longest', cell: ({ max }) => <Duration of={max} /> },
          { header: 'Memory', cell: ({ pages }) => (pages === 0 ? '' : `+${formatPages(pages)}`) },
        ]}
      />
      {moreFunctions === 0 ? null : <p class="soft small">And {count(moreFunctions)} more, which took less.</p>}
    </>
  );
}

function Duration({ of }: { readonly of: number }) {
  return <span class="duration">{formatDuration(of)}</span>;
}

function shortened(name: string): string {
  return name.length <= 200 ? visible(name) : `${visible(name.slice(0, 200))}…`;
}
