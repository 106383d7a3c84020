import { type CanActivate, ConflictException, Injectable } from '@nestjs/common';
import { SceneRuns } from '../scenes/scene-runs.js';

/** Denies the controls while a scene runs, because they would change its result. */
@Injectable()
export class NoSceneGuard implements CanActivate {
  constructor(private readonly scenes: SceneRuns) {}

  canActivate(): boolean {
    if (this.scenes.running === undefined) return true;
    throw new ConflictException('A scene is running: wait until it ends, or stop it.');
  }
}
