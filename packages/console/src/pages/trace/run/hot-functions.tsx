import type { FunctionStatistics } from '@tenon/trace';
import { formatDuration, formatPages, sourceLabel } from '@tenon/trace/formats';
import { visible } from '@tenon/trace/unsafe-characters';
import { Button } from '../../../components/button.tsx';
import { count } from '../../../components/count.ts';
import { DataTable } from '../../../components/data-table.tsx';
import { useToast } from '../../../state/services.ts';
import { useLocalList } from '../../../state/use-local-list.ts';
import { type Selection, withNames } from '../inspect/selection.ts';
import type { LoadedModule } from '../inspect/use-module.ts';
import type { RunResult } from './messages.ts';

/** Excluded at once: tracing costs most where the most calls are. */
const mostCalled = 10;

/** The calls of each function, hidden ones included. */
export function HotFunctions(props: {
  readonly result: RunResult;
  readonly loaded: LoadedModule;
  readonly selection: Selection;
  readonly onSelection: (selection: Selection) => void;
}) {
  const { result, loaded, selection, onSelection } = props;
  const { functions, moreFunctions } = result;
  const toast = useToast();
  const list = useLocalList(
    functions,
    ({ function: { name, rawName, file = '', line } }) => `${name}\n${rawName}\n${file}:${line}`,
  );
  if (functions.length === 0) return null;
  const exclude = (): void => {
    const names = functions
      .filter(({ function: { rawName } }) => !/^func\[\d+\]$/.test(rawName)) // stands for a function without a name
      .toSorted((a, b) => b.calls - a.calls)
      .slice(0, mostCalled)
      .map(({ function: { rawName } }) => rawName);
    onSelection(
      selection.kind === 'allowed'
        ? withNames(selection, names, false)
        : withNames({ kind: 'banned', names: selection.kind === 'banned' ? selection.names : new Set() }, names, true),
    );
    toast(names.length === 0 ? 'None of them has a name to select it by.' : 'Excluded from the next run.');
  };
  return (
    <>
      <div class="section-head">
        <h3>Called functions</h3>
        {loaded.facts.isInstrumented ? null : (
          <Button kind="quiet" isSmall onClick={exclude}>
            Exclude the ten most-called
          </Button>
        )}
      </div>
      <DataTable<FunctionStatistics>
        caption="Called functions"
        noun="function"
        searchHint="Function"
        list={list}
        empty={null}
        rowKey={({ function: { index } }) => `${index}`}
        columns={[
          { header: 'Function', cell: ({ function: traced }) => <FunctionName of={traced} /> },
          { header: 'Self', cell: ({ selfTimeNano }) => <Duration of={selfTimeNano} /> },
          { header: 'Total', cell: ({ totalTimeNano }) => <Duration of={totalTimeNano} /> },
          {
            header: 'Calls',
            cell: ({ calls, failures }) =>
              failures === 0 ? count(calls) : `${count(calls)}, ${count(failures)} failed`,
          },
          { header: 'Longest', cell: ({ maxTimeNano }) => <Duration of={maxTimeNano} /> },
          { header: 'Memory', cell: ({ grownPages }) => (grownPages === 0 ? '' : `+${formatPages(grownPages)}`) },
        ]}
      />
      {moreFunctions === 0 ? null : <p class="soft small">{count(moreFunctions)} more have less self time.</p>}
    </>
  );
}

function FunctionName({ of }: { readonly of: FunctionStatistics['function'] }) {
  const source = sourceLabel(of);
  return (
    <>
      <code>{shortened(of.name)}</code>
      {source === '' ? null : (
        <div class="trace-source soft small" title={shortened(of.file ?? '')}>
          {shortened(source)}
        </div>
      )}
    </>
  );
}

function Duration({ of }: { readonly of: bigint }) {
  return <span class="duration">{formatDuration(Number(of))}</span>;
}

function shortened(name: string): string {
  return name.length <= 200 ? visible(name) : `${visible(name.slice(0, 200))}…`;
}
