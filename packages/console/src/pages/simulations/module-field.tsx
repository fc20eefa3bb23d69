import { useId, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { byteSize } from '../../components/byte-size.ts';
import { DropZone } from '../../components/drop-zone.tsx';
import { Spinner } from '../../components/spinner.tsx';
import { checkFile } from '../guest/check-file.ts';
import type { ModuleChoice } from './stored-parts.ts';

/** A module of a simulation: the stored one, or a file that replaces it. */
export function ModuleField(props: {
  /** "Test module" */
  readonly label: string;
  readonly hint: string;
  readonly choice: ModuleChoice;
  /** The size of the stored module. */
  readonly storedBytes: number | undefined;
  readonly maxBytes: number;
  /** The name of a function that it must export. */
  readonly mustExport?: string;
  readonly isOptional?: boolean;
  readonly error: string | undefined;
  readonly onChange: (choice: ModuleChoice) => void;
}) {
  const { label, choice, storedBytes, maxBytes, mustExport, onChange } = props;
  const [fault, setFault] = useState<string>();
  const [isChecking, setChecking] = useState(false);
  const [fileName, setFileName] = useState('');
  const labelId = useId();
  const add = async ([file, other]: readonly File[]): Promise<void> => {
    if (file === undefined) return;
    setFault(undefined);
    setChecking(true);
    const found = await faultOf(file, other, maxBytes, mustExport);
    setChecking(false);
    setFault(found);
    if (found !== undefined) return;
    setFileName(file.name);
    onChange(file);
  };
  const shown =
    choice === 'stored' && storedBytes !== undefined
      ? { name: 'Stored module', bytes: storedBytes }
      : choice instanceof Blob
        ? { name: fileName, bytes: choice.size }
        : undefined;
  const error = fault ?? props.error;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset draws its legend into its border
    <div class="field" role="group" aria-labelledby={labelId}>
      <div class="field-legend" id={labelId}>
        {label}
        {props.isOptional ? <span class="field-optional"> (optional)</span> : null}
      </div>
      <DropZone
        label="Drop a .wasm file here"
        accept=".wasm,application/wasm"
        hint={`${props.hint} At most ${byteSize(maxBytes)}.`}
        {...(shown === undefined ? {} : { file: shown })}
        onFiles={(files) => void add(files)}
      >
        {isChecking ? <Spinner label="Checking the file…" /> : null}
        {shown !== undefined && props.isOptional ? (
          <Button kind="quiet" isSmall label={`Remove: ${label}`} onClick={() => onChange(undefined)}>
            Remove
          </Button>
        ) : null}
      </DropZone>
      {error === undefined ? null : (
        <p class="field-error" role="alert">
          {/^[a-z]/.test(error) ? `${label} ${error}` : error}
        </p>
      )}
    </div>
  );
}

/** Why a file can't be the module; `undefined` if it can. */
async function faultOf(file: File, other: File | undefined, maxBytes: number, mustExport: string | undefined) {
  if (other !== undefined) return 'Add one file at a time.';
  if (file.size > maxBytes) return `${file.name} has ${byteSize(file.size)}. The limit is ${byteSize(maxBytes)}.`;
  const checked = await checkFile(file);
  if (typeof checked === 'string') return checked;
  const { isValid, exports, fault } = checked.check;
  if (fault !== undefined || !isValid) return `${file.name} is not a valid module${fault ? `: ${fault}` : ''}.`;
  if (mustExport !== undefined && !exports.includes(mustExport)) {
    return `${file.name} has no export \`${mustExport}\`. Its exports: ${exports.slice(0, 10).join(', ') || 'none'}.`;
  }
  return undefined;
}
