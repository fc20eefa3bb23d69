import { useMemo, useState } from 'preact/hooks';
import { Button } from '../../../components/button.tsx';
import { count, counted } from '../../../components/count.ts';
import { SelectField, TextField } from '../../../components/field.tsx';
import { Section } from '../../../components/page.tsx';
import { RadioGroup } from '../../../components/radio-group.tsx';
import { SizePicture } from '../picture/size-picture.tsx';
import { type Choice, type ChoiceKind, withNames } from './choice.ts';
import { DownloadInstrumented } from './download-instrumented.tsx';
import type { FunctionOrder } from './find-functions.ts';
import { FunctionList } from './function-list.tsx';
import { type FunctionTable, nameAt, nameSources, sourceAt } from './function-table.ts';
import { useAnswer } from './use-answer.ts';
import type { Subject } from './use-module.ts';

/** The functions of a module, of which one chooses those that are traced. */
export function FunctionsSection(props: {
  readonly subject: Subject;
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
}) {
  const { subject, choice, onChoice } = props;
  const { table, looker } = subject;
  const [text, setText] = useState('');
  const [order, setOrder] = useState<FunctionOrder>('size');
  const found = useAnswer(() => looker.ask({ kind: 'find', text, order }), [text, order], 120);
  const isNameless = useMemo(() => hasFewNames(table), [table]);
  const isTicking = choice.kind !== 'everything';
  return (
    <Section title="Functions">
      <SizePicture subject={subject} onPick={setText} />
      <div class="trace-choose">
        <RadioGroup<ChoiceKind>
          legend="What is traced"
          name="choice"
          value={choice.kind}
          onChange={(kind) => onChoice({ ...choice, kind })}
          options={[
            { value: 'everything', label: 'Every function' },
            { value: 'allowed', label: 'Only those that are ticked' },
            { value: 'banned', label: 'All but those that are ticked' },
          ]}
        />
        <DownloadInstrumented subject={subject} choice={choice} />
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
            { value: 'size', label: 'the biggest first' },
            { value: 'name', label: 'by name' },
            { value: 'index', label: 'as they come' },
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
              {isTicking ? `, ${counted(choice.names.size, 'name')} ticked` : ''}
            </p>
            {isTicking && found.value.length > 0 ? (
              <TickAll table={table} found={found.value} choice={choice} onChoice={onChoice} />
            ) : null}
          </div>
          {found.value.length === 0 ? (
            <p class="soft">No function’s name fits “{text}”.</p>
          ) : (
            <FunctionList
              table={table}
              found={found.value}
              choice={choice}
              onToggle={(index) => onChoice(toggled(table, choice, index))}
            />
          )}
        </>
      )}
      {isNameless ? (
        <p class="soft small">
          Most of its functions have no name, so they can be neither read nor chosen. Have your compiler or linker keep
          the names: <code>-g</code>, <code>--profiling-funcs</code>, <code>strip = false</code> or the like.
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

function toggled(table: FunctionTable, choice: Choice, index: number): Choice {
  if (sourceAt(table, index) === 'none') return choice;
  const name = nameAt(table, index);
  return withNames(choice, [name], !choice.names.has(name));
}

function TickAll(props: {
  readonly table: FunctionTable;
  readonly found: Uint32Array;
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
}) {
  const { table, found, choice, onChoice } = props;
  const tick = (isTicked: boolean): void => {
    const named = [...found].filter((index) => sourceAt(table, index) !== 'none');
    onChoice(
      withNames(
        choice,
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
