import { IsNotEmpty, IsString } from 'class-validator';

/** The sign-in request object (interface, 2.3). Too long is not malformed: that is a wrong credential. */
export class SignInDto {
  @IsString()
  @IsNotEmpty()
  readonly username!: string;

  @IsString()
  @IsNotEmpty()
  readonly password!: string;
}
