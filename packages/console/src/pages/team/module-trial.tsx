import type { ExtensionPoint } from '@tenon/protocol';
import { useRef, useState } from 'preact/hooks';
import { DropZone } from '../../components/drop-zone.tsx';
import { Notice } from '../../components/notice.tsx';
import { Spinner } from '../../components/spinner.tsx';
import { useSession } from '../../state/services.ts';
import { type CheckedFile, checkFile } from '../guest/check-file.ts';
import { largestModule, moduleSizeFault } from '../guest/check-module.ts';
import { ModuleFindings } from '../guest/module-findings.tsx';

/** Checks a module against a draft of a schema, in the browser, again with each change of the draft. */
export function ModuleTrial({ requirements }: { readonly requirements: Pick<ExtensionPoint, 'schema' | 'limits'> }) {
  const { view } = useSession();
  const [result, setResult] = useState<CheckedFile | string>();
  const [isChecking, setChecking] = useState(false);
  const lastTurn = useRef(0);
  const largest = largestModule(view.status === 'ready' ? view.maxModuleBytes : Infinity, requirements);
  const addFile = async ([file, other]: readonly File[]): Promise<void> => {
    if (file === undefined) return;
    const turn = ++lastTurn.current;
    setChecking(true);
    const sizeFault = moduleSizeFault(file, largest);
    const found = other === undefined ? (sizeFault ?? (await checkFile(file))) : 'Add one file at a time.';
    if (lastTurn.current !== turn) return;
    setChecking(false);
    setResult(found);
  };
  const checked = typeof result === 'object' ? result : undefined;
  return (
    <section class="module-trial stack" aria-labelledby="module-trial">
      <h2 id="module-trial">Try a module</h2>
      <DropZone
        label="Drop a .wasm file here"
        accept=".wasm,application/wasm"
        hint="Checks it against this schema. It stays in your browser."
        {...(checked === undefined ? {} : { file: { name: checked.fileName, bytes: checked.bytes.length } })}
        onFiles={(files) => void addFile(files)}
      />
      <div class="stack" aria-live="polite">
        {isChecking ? <Spinner label="Checking…" /> : null}
        {typeof result === 'string' ? (
          <Notice kind="failed" title="Not a module that can be published">
            <p>{result}</p>
          </Notice>
        ) : null}
        {checked === undefined ? null : (
          <ModuleFindings check={checked.check} extensionPoint={requirements} isRefused={false} />
        )}
      </div>
    </section>
  );
}
