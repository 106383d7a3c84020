import { Injectable, NotFoundException, type OnModuleDestroy } from '@nestjs/common';
import { ConsoleParts } from '../console-parts.js';
import { GuardActivity } from '../live/guard-activity.js';
import { type SceneLine, type SceneName, type SceneResult } from '../messages.js';
import { Trickle } from '../trickle/trickle.js';
import { CACHE } from './cache.scene.js';
import { DEPLOY } from './deploy.scene.js';
import { JUNK } from './junk.scene.js';
import { OUTAGE } from './outage.scene.js';
import { type Scene } from './scene.js';
import { SIGN_OUT } from './sign-out.scene.js';
import { Stage } from './stage.js';
import { STAMPEDE } from './stampede.scene.js';

const SCRIPTS: Readonly<Record<SceneName, Scene>> = {
  stampede: STAMPEDE,
  outage: OUTAGE,
  'sign-out': SIGN_OUT,
  junk: JUNK,
  deploy: DEPLOY,
  cache: CACHE,
};

/** Runs scenes, one at a time, and restores the demo after each, also if it fails or its visitor leaves. */
@Injectable()
export class SceneRuns implements OnModuleDestroy {
  readonly #leaving = new AbortController();
  #running: { readonly name: SceneName; readonly over: Promise<void> } | undefined;

  constructor(
    private readonly parts: ConsoleParts,
    private readonly activity: GuardActivity,
    private readonly trickle: Trickle,
  ) {}

  async onModuleDestroy(): Promise<void> {
    this.#leaving.abort();
    await this.#running?.over;
  }

  /** The scene that runs. */
  get running(): SceneName | undefined {
    return this.#running?.name;
  }

  /**
   * Runs a scene while none runs. Never rejects: `report` is called with each step, and with the result or
   * the error when everything is restored.
   */
  async run(
    name: SceneName,
    origin: string,
    left: AbortSignal,
    report: (line: SceneLine) => void,
  ): Promise<void> {
    const signal = AbortSignal.any([left, this.#leaving.signal]);
    const run = this.#restoring(name, origin, signal, report).then(
      (result): SceneLine => ({ result }),
      (error: unknown): SceneLine => ({ error: error instanceof Error ? error.message : String(error) }),
    );
    this.#running = { name, over: run.then(() => undefined) };
    const last = await run;
    this.#running = undefined;
    report(last);
  }

  /**
   * Restores the fault and the cache, with a new instance of the backend, and ends the sessions of the scene.
   */
  async #restoring(
    name: SceneName,
    origin: string,
    signal: AbortSignal,
    report: (line: SceneLine) => void,
  ): Promise<SceneResult> {
    const { parts } = this;
    const controls = parts.serviceControls;
    if (!controls) throw new NotFoundException('A scene needs the embedded session service.');
    const [cache, fault] = [parts.backend.settings, controls.fault];
    const stage = new Stage({ parts, controls, origin, signal, onStep: (step) => report({ step }) });
    try {
      await this.trickle.settled();
      report({ step: -1 });
      await controls.setFault('none');
      await parts.backend.restart(SCRIPTS[name].cache);
      const callsBefore = this.activity.checkCalls;
      const measured = await SCRIPTS[name].run(stage);
      return {
        requests: stage.requests,
        lost: stage.lost,
        calls: this.activity.checkCalls - callsBefore,
        measured,
      };
    } finally {
      await stage.clear();
      await controls.setFault(fault);
      await parts.backend.restart(cache);
    }
  }
}
