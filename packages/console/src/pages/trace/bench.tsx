import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { byteSize } from '../../components/byte-size.ts';
import { Notice } from '../../components/notice.tsx';
import { type Choice, everything } from './look/choice.ts';
import { FactsSection } from './look/facts.tsx';
import { FunctionsSection } from './look/functions-section.tsx';
import type { Subject } from './look/use-module.ts';
import { RunSection } from './run/run-section.tsx';

/** One module: what it is, what of it is traced, and what it does. */
export function Bench({ subject, onOther }: { readonly subject: Subject; readonly onOther: () => void }) {
  const [choice, setChoice] = useState<Choice>(everything);
  const { fileName, facts } = subject;
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
        <Notice kind="warning" title="This browser can’t run it">
          <p>Its engine refuses the module: it is broken, or uses something that the browser does not have yet.</p>
        </Notice>
      )}
      {facts.isInstrumented ? (
        <Notice title="It is instrumented already">
          <p>
            It reports its calls as it is. To choose other functions, start from the module before it was instrumented.
          </p>
        </Notice>
      ) : null}
      {facts.fault === undefined ? null : (
        <Notice kind="warning" title="It can’t be instrumented">
          <p>{facts.fault}.</p>
        </Notice>
      )}
      <FactsSection facts={facts} />
      {facts.isInstrumented || facts.fault !== undefined ? null : (
        <FunctionsSection subject={subject} choice={choice} onChoice={setChoice} />
      )}
      {facts.isValid && facts.fault === undefined ? (
        <RunSection subject={subject} choice={choice} onChoice={setChoice} />
      ) : null}
    </>
  );
}
