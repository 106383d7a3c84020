import { type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { sayFailure } from '../controls/console-api.js';
import { type Experiment, EXPERIMENTS, type Scene } from './experiment.js';

/** Things worth trying: one is open at a time. */
export function Experiments({ scene }: { readonly scene: Scene }): VNode {
  const [open, setOpen] = useState<Experiment>();
  return (
    <section class="experiments" aria-labelledby="try-this">
      <h2 id="try-this">Try this</h2>
      <ol>
        {EXPERIMENTS.map((experiment) => (
          <li key={experiment.title}>
            <button type="button" aria-expanded={experiment === open} onClick={() => setOpen(experiment === open ? undefined : experiment)}>
              {experiment.title}
            </button>
          </li>
        ))}
      </ol>
      {open && <Open key={open.title} experiment={open} scene={scene} />}
    </section>
  );
}

function Open({ experiment, scene }: { readonly experiment: Experiment; readonly scene: Scene }): VNode {
  const [said, setSaid] = useState('');
  const set = () => {
    setSaid('Setting the scene…');
    experiment.set(scene).then(
      () => setSaid(experiment.then),
      (error: unknown) => setSaid(sayFailure(error)),
    );
  };
  return (
    <div class="experiment">
      <p>{experiment.watch}</p>
      <button type="button" class="primary small" onClick={set}>
        {experiment.button}
      </button>
      <p class="then" aria-live="polite">
        {said}
      </p>
    </div>
  );
}
