import { TextField } from '../../components/field.tsx';

/** The field for the name of a new access token or API key. */
export function CredentialName(props: {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly error: string | undefined;
}) {
  return (
    <TextField
      {...props}
      label="Name"
      name="name"
      maxLength={200}
      hasFocus
      placeholder="build server"
      hint="So you can recognise it later."
    />
  );
}
