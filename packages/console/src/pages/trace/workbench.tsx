import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { byteSize } from '../../components/byte-size.ts';
import { Notice } from '../../components/notice.tsx';
import { FactsSection } from './inspect/facts.tsx';
import { FunctionsSection } from './inspect/functions-section.tsx';
import { everything, type Selection } from './inspect/selection.ts';
import type { LoadedModule } from './inspect/use-module.ts';
import { RunSection } from './run/run-section.tsx';

/** One module: its description, the functions to trace, and runs. */
export function Workbench({ loaded, onOther }: { readonly loaded: LoadedModule; readonly onOther: () => void }) {
  const [selection, setSelection] = useState<Selection>(everything);
  const { fileName, facts } = loaded;
  return (
    <>
      <div class="trace-file">
        <p>
          <strong>{fileName}</strong> <span class="soft">{byteSize(facts.bytes)}</span>
        </p>
        <Button kind="quiet" isSmall onClick={onOther}>
          Another module
        </Button>
      </div>
      {facts.isValid ? null : (
        <Notice kind="warning" title="This browser can’t run the module">
          <p>Its engine rejects the module as invalid, or lacks a feature that the module uses.</p>
        </Notice>
      )}
      {facts.isInstrumented ? (
        <Notice title="Already instrumented">
          <p>To trace other functions, open the original module.</p>
        </Notice>
      ) : null}
      {facts.fault === undefined ? null : (
        <Notice kind="warning" title="Can’t instrument the module">
          <p>{facts.fault}.</p>
        </Notice>
      )}
      <FactsSection facts={facts} />
      {facts.isInstrumented || facts.fault !== undefined ? null : (
        <FunctionsSection loaded={loaded} selection={selection} onSelection={setSelection} />
      )}
      {facts.isValid && facts.fault === undefined ? (
        <RunSection loaded={loaded} selection={selection} onSelection={setSelection} />
      ) : null}
    </>
  );
}
