import { minPasswordLength } from '@tenon/protocol/password-length';
import { PasswordField, TextField } from './field.tsx';

interface AccountFieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly error?: string | undefined;
  readonly hasFocus?: boolean;
}

export function YourNameField(props: AccountFieldProps) {
  return (
    <TextField
      {...props}
      label="Your name"
      name="name"
      autoComplete="name"
      maxLength={200}
      hint="Visible to the teams and guests that you work with."
    />
  );
}

export function EmailField(props: AccountFieldProps & { readonly hint?: string }) {
  return <TextField {...props} label="E-mail address" name="email" type="email" autoComplete="username webauthn" />;
}

export function CurrentPasswordField(props: AccountFieldProps) {
  return <PasswordField {...props} label="Password" name="password" autoComplete="current-password" />;
}

export function NewPasswordField(props: AccountFieldProps & { readonly label: string; readonly name: string }) {
  return (
    <PasswordField
      {...props}
      autoComplete="new-password"
      hint={`At least ${minPasswordLength} characters. Try a few unrelated words.`}
    />
  );
}
