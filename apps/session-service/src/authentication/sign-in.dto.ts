import { IsNotEmpty, IsString } from 'class-validator';

/**
 * The sign-in request object (interface, 2.3). A value that is too long is not malformed, but a wrong
 * credential.
 */
export class SignInDto {
  @IsString()
  @IsNotEmpty()
  readonly username!: string;

  @IsString()
  @IsNotEmpty()
  readonly password!: string;
}
