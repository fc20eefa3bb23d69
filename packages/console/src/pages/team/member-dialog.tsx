import type { Member, MemberRole } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { FormDialog } from '../../components/form-dialog.tsx';
import { RadioGroup } from '../../components/radio-group.tsx';
import { useSubmit } from '../../state/use-submit.ts';
import { roleChoices } from './use-app.ts';

/** Changes the role of a member. */
export function MemberDialog(props: {
  readonly member: Member;
  readonly onChange: (role: MemberRole) => Promise<void>;
  readonly onClose: () => void;
}) {
  const { member, onChange, onClose } = props;
  const [role, setRole] = useState<MemberRole>(member.role);
  const form = useSubmit(() => onChange(role));
  return (
    <FormDialog
      title={`Change ${member.name}’s role`}
      action="Change role"
      isDisabled={role === member.role}
      form={form}
      onClose={onClose}
    >
      <RadioGroup legend="Role" name="role" options={roleChoices} value={role} onChange={setRole} hasFocus />
      <p class="soft small">Their pending invitations that the new role doesn’t allow are revoked.</p>
    </FormDialog>
  );
}
