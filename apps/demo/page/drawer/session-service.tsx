import { type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type Fault, FAULTS } from '../../src/session-service/fault.js';
import { counted } from '../text.js';
import { endSessions, putFault, messageOf } from '../console/console-api.js';
import { Segmented } from './segmented.js';
import { useChoice } from './use-choice.js';

const LABELS: Readonly<Record<Fault, string>> = {
  none: 'Healthy',
  slow: 'Slow',
  broken: 'Broken (500)',
  garbage: 'Garbage',
  stopped: 'Stopped',
};

const SYMPTOMS: Readonly<Record<Fault, string>> = {
  none: 'It answers normally.',
  slow: 'It answers, but late.',
  broken: 'It answers every call with 500.',
  garbage: 'It answers 200 with a body that is not a user record.',
  stopped: 'It refuses every connection.',
};

const FAULT_OPTIONS = FAULTS.map((value) => ({ value, label: LABELS[value] }));

/** Sets the fault of the session service, and ends its sessions. */
export function SessionService({ fault }: { readonly fault: Fault }): VNode {
  const [chosen, choose, failure] = useChoice(fault, putFault);
  const [ended, setEnded] = useState('');
  const end = () => {
    endSessions().then(
      (number) => setEnded(`${counted(number, 'session')} ended, at the session service only.`),
      (error: unknown) => setEnded(messageOf(error)),
    );
  };
  return (
    <section class="control" aria-labelledby="session-service">
      <div class="control-head">
        <h3 id="session-service">Session service</h3>
        <button type="button" class="small" onClick={end}>
          End all sessions
        </button>
      </div>
      <Segmented name="fault" legend="Fault" options={FAULT_OPTIONS} value={chosen} choose={choose} />
      <p class="hint" aria-live="polite">
        {failure ?? `${SYMPTOMS[chosen]} ${ended}`}
      </p>
    </section>
  );
}
