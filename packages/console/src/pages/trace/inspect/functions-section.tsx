import { useMemo, useState } from 'preact/hooks';
import { Button } from '../../../components/button.tsx';
import { count, counted } from '../../../components/count.ts';
import { SelectField, TextField } from '../../../components/field.tsx';
import { Section } from '../../../components/page.tsx';
import { RadioGroup } from '../../../components/radio-group.tsx';
import { SizeMap } from '../size-map/size-map.tsx';
import { DownloadInstrumented } from './download-instrumented.tsx';
import type { FunctionOrder } from './find-functions.ts';
import { FunctionList } from './function-list.tsx';
import { type FunctionTable, nameAt, nameSources, sourceAt } from './function-table.ts';
import { type Selection, type SelectionKind, withNames } from './selection.ts';
import { useAnswer } from './use-answer.ts';
import type { LoadedModule } from './use-module.ts';

/** The functions of a module, and the choice of those to trace. */
export function FunctionsSection(props: {
  readonly loaded: LoadedModule;
  readonly selection: Selection;
  readonly onSelection: (selection: Selection) => void;
}) {
  const { loaded, selection, onSelection } = props;
  const { table, inspector } = loaded;
  const [text, setText] = useState('');
  const [order, setOrder] = useState<FunctionOrder>('size');
  const found = useAnswer(() => inspector.ask({ kind: 'find', text, order }), [text, order], 120);
  const isNameless = useMemo(() => hasFewNames(table), [table]);
  const isTicking = selection.kind !== 'everything';
  return (
    <Section title="Functions">
      <SizeMap loaded={loaded} onPick={setText} />
      <div class="trace-choose">
        <RadioGroup<SelectionKind>
          legend="Functions to trace"
          name="selection"
          value={selection.kind}
          onChange={(kind) => onSelection({ ...selection, kind })}
          options={[
            { value: 'everything', label: 'Every function' },
            { value: 'allowed', label: 'Only ticked functions' },
            { value: 'banned', label: 'All but ticked functions' },
          ]}
        />
        <DownloadInstrumented loaded={loaded} selection={selection} />
      </div>
      <div class="trace-find">
        <TextField
          label="Search"
          name="search"
          type="search"
          value={text}
          onInput={setText}
          isRequired={false}
          isCode
        />
        <SelectField
          label="Order"
          name="order"
          value={order}
          onChange={(value) => setOrder(value as FunctionOrder)}
          options={[
            { value: 'size', label: 'largest first' },
            { value: 'name', label: 'by name' },
            { value: 'index', label: 'file order' },
          ]}
        />
      </div>
      {found.value === undefined ? null : (
        <>
          <div class="trace-found">
            <p class="soft small" role="status">
              {text.trim() === ''
                ? counted(table.count, 'function')
                : `${count(found.value.length)} of ${count(table.count)}`}
              {isTicking ? `, ${counted(selection.names.size, 'name')} ticked` : ''}
            </p>
            {isTicking && found.value.length > 0 ? (
              <TickAll table={table} found={found.value} selection={selection} onSelection={onSelection} />
            ) : null}
          </div>
          {found.value.length === 0 ? (
            <p class="soft">No function matches “{text}”.</p>
          ) : (
            <FunctionList
              table={table}
              found={found.value}
              selection={selection}
              onToggle={(index) => onSelection(toggled(table, selection, index))}
            />
          )}
        </>
      )}
      {isNameless ? (
        <p class="soft small">
          Most functions have no name, so you can’t select them. Configure the compiler or linker to keep names, for
          example with <code>-g</code>, <code>--profiling-funcs</code> or <code>strip = false</code>.
        </p>
      ) : null}
      {found.fault === undefined ? null : <p class="field-error">{found.fault}</p>}
    </Section>
  );
}

function hasFewNames(table: FunctionTable): boolean {
  const nameless = table.sources.reduce((sum, source) => sum + (nameSources[source] === 'none' ? 1 : 0), 0);
  return nameless > 0.5 * (table.count - table.importedCount);
}

function toggled(table: FunctionTable, selection: Selection, index: number): Selection {
  if (sourceAt(table, index) === 'none') return selection;
  const name = nameAt(table, index);
  return withNames(selection, [name], !selection.names.has(name));
}

function TickAll(props: {
  readonly table: FunctionTable;
  readonly found: Uint32Array;
  readonly selection: Selection;
  readonly onSelection: (selection: Selection) => void;
}) {
  const { table, found, selection, onSelection } = props;
  const tick = (isTicked: boolean): void => {
    const named = [...found].filter((index) => sourceAt(table, index) !== 'none');
    onSelection(
      withNames(
        selection,
        named.map((index) => nameAt(table, index)),
        isTicked,
      ),
    );
  };
  return (
    <div class="actions">
      <Button kind="quiet" isSmall onClick={() => tick(true)}>
        Tick all found
      </Button>
      <Button kind="quiet" isSmall onClick={() => tick(false)}>
        Untick all found
      </Button>
    </div>
  );
}
