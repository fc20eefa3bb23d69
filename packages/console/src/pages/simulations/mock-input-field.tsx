import type { SimulationInput } from '@tenon/protocol';
import { Button } from '../../components/button.tsx';
import { byteSize } from '../../components/byte-size.ts';
import { TextAreaField } from '../../components/field.tsx';
import { toBase64 } from './stored-parts.ts';

/** The value that `mock_input()` returns to a test module: a text, or a file. */
export function MockInputField(props: {
  readonly value: SimulationInput['mockInput'];
  readonly error: string | undefined;
  readonly onChange: (value: SimulationInput['mockInput']) => void;
}) {
  const { value, error, onChange } = props;
  const addFile = async (file: File | undefined): Promise<void> => {
    if (file !== undefined) onChange({ base64: await toBase64(file) });
  };
  return (
    <>
      {typeof value === 'object' ? (
        <div class="field">
          <div class="field-legend">
            Mock input<span class="field-optional"> (optional)</span>
          </div>
          <p>
            A file of {byteSize(Math.floor((value.base64.replace(/=+$/, '').length * 3) / 4))}{' '}
            <Button kind="quiet" isSmall label="Remove the mock input" onClick={() => onChange(undefined)}>
              Remove
            </Button>
          </p>
          {error === undefined ? null : <p class="field-error">{error}</p>}
        </div>
      ) : (
        <TextAreaField
          label="Mock input"
          name="mockInput"
          isRequired={false}
          isCode
          value={value ?? ''}
          hint="What mock_input() returns to the test module."
          error={error}
          onInput={(text) => onChange(text === '' ? undefined : text)}
        />
      )}
      <label class="button button-quiet button-small mock-input-file">
        Use a file
        <input
          class="visually-hidden"
          type="file"
          aria-label="Use a file as the mock input"
          onChange={(event) => {
            void addFile(event.currentTarget.files?.[0]);
            event.currentTarget.value = '';
          }}
        />
      </label>
    </>
  );
}
