@echo off
rem Opened for an exported memory: shows what it would add, asks, and brings it in.
setlocal
set "MEMORY=%~dp0env\lean-memory.exe"
"%MEMORY%" import "%~1"
if errorlevel 1 goto end
choice /C YN /N /M "Bring it in? [Y/N] "
if errorlevel 2 goto no
"%MEMORY%" import --apply "%~1"
goto end
:no
echo Nothing was changed.
:end
echo.
pause
